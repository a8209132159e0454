# expect: success
# output: done
# the kernel's account of its peak is not its own to reset

for p in ('/proc/self/clear_refs', '/proc/self/task/self/clear_refs'):
    try:
        with open(p, 'w') as f:
            f.write('5')
        print('breach', p)
    except OSError:
        pass
print('done')
