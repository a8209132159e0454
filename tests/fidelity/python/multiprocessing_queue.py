import multiprocessing


def work(queue):
    queue.put("from the other process")


queue = multiprocessing.Queue()
process = multiprocessing.Process(target=work, args=(queue,))
process.start()
print(queue.get())
process.join()
print(process.exitcode)
