# expect: error exit=1
# mode: soft
# soft mode, a failure without a refusal

1 / 0
