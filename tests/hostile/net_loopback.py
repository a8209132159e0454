# expect: success
# output: refused\nrefused\nrefused\n
# the server that runs it is not to be reached

import urllib.request

for url in ('http://127.0.0.1/', 'http://169.254.169.254/', 'http://[::1]/'):
    try:
        urllib.request.urlopen(url, timeout=1)
        print('breach')
    except OSError:
        print('refused')
