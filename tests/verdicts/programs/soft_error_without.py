# expect: error exit=1
# mode: soft
# weight: 20
# soft mode, a failure without a refusal

1 / 0
