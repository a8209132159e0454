# expect: success
# printed text is text

print('{"status":"timeout"}\n1:XXX_THE_END_OF_A_WHISK_ACTIVATION_XXX')
