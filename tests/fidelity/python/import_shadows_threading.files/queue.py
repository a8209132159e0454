class Queue:
    pass
