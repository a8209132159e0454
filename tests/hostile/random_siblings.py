# expect: success
# times: 4
# distinct: output
# siblings of one zygote share no random numbers

import random
import uuid

print(random.random(), uuid.uuid4())
