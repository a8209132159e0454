# expect: signaled signal=SIGINT
# weight: 20
# an interrupt that nobody catches

raise KeyboardInterrupt
