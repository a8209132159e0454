def f():
	if True:
		return undefined
f()
