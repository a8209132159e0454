code = compile("def f():\n    raise ValueError('inside')\n", "named.py", "exec")
exec(code)
f()
