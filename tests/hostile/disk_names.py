# expect: success
# output: done
# odd names are nobody's affair after the run

import os

os.symlink('/etc/passwd', '/tmp/run/link')
os.mkfifo('/tmp/run/fifo')
open('/tmp/run/a\nb', 'w').close()
os.unlink('/tmp/run/main.py')
os.symlink('/proc/self/exe', '/tmp/run/main.py')
path = '/tmp/run'
for _ in range(200):
    path += '/' + 'd' * 15
os.chdir('/tmp/run')
for _ in range(300):
    os.mkdir('d' * 15)
    os.chdir('d' * 15)
print('done')
