import signal
print('before')
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
raise KeyboardInterrupt
