/**
 * What a paired device may be called: 1 to 64 printable characters, not all of them blank. Control characters would reach
 * the terminals that list the devices.
 */
export const DEVICE_NAME_PATTERN = /^(?=.*[^\p{Z}])[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u;
