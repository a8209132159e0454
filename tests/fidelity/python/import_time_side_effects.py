import random
import uuid
import secrets
print(len(secrets.token_hex(4)), uuid.uuid4().version,
      random.SystemRandom().random() < 1)
