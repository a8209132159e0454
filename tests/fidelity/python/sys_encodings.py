import locale
import sys
print(sys.getdefaultencoding(), sys.getfilesystemencoding(),
      sys.getfilesystemencodeerrors(), locale.getpreferredencoding(),
      locale.setlocale(locale.LC_ALL), locale.getlocale())
