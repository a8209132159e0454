import sys
print(sys.excepthook is sys.__excepthook__, sys.displayhook.__name__,
      sys.unraisablehook.__name__, sys.breakpointhook.__name__,
      sys.gettrace(), sys.getprofile(), hasattr(sys, "last_type"),
      hasattr(sys, "ps1"), sys.is_finalizing())
