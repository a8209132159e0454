// expect: success
// source: hook
// without hook: success
// case: 25
// weight: 2
// the answer says where its figure of memory is from

Buffer.alloc(1 << 20)
