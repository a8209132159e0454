import runpy
result = runpy.run_path("script.py", run_name="__main__")
print(result["x"], __name__)
