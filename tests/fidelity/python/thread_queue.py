import queue
import threading
jobs = queue.Queue()
results = []


def work():
    while (job := jobs.get()) is not None:
        results.append(job * job)
        jobs.task_done()


threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for i in range(20):
    jobs.put(i)
jobs.join()
for _ in threads:
    jobs.put(None)
for thread in threads:
    thread.join()
print(sorted(results))
