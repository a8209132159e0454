# expect: signaled signal=SIGINT
# an interrupt that nobody catches

raise KeyboardInterrupt
