import code
code.interact(banner="begin", exitmsg="end", local={"x": 3})
