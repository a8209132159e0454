# expect: error exit=1
# stderr: ModuleNotFoundError
# weight: 17
# a module that is not there

import no_such_module
