# expect: success
# output: 8\n
# weight: 12
# honest threads

import threading

done = []
threads = [threading.Thread(target=done.append, args=(i,)) for i in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(done))
