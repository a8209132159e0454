# expect: process_exceeded exit=1
# weight: 3
# the same, by another

import multiprocessing

multiprocessing.Process(target=print).start()
