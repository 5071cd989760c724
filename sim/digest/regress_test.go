package digest

const regress = 0xf8f9222aeb2dda55
