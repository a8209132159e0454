import multiprocessing


def work(n):
    print("spawned", n, __name__)


if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=work,
                                                           args=(5,))
    process.start()
    process.join()
    print(process.exitcode)
