# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 1
# a document that grows when it is parsed

import json

json.loads("[" + "{}," * (4 << 20) + "{}]")
