// What the host gives a plugin (https://extism.org/docs/concepts/pdk): addresses and lengths here, texts for plugin.ts.

@external("extism:host/env", "input_length")
declare function inputLength(): u64;
@external("extism:host/env", "input_load_u8")
declare function inputByte(at: u64): u8;
@external("extism:host/env", "alloc")
declare function allocate(length: u64): u64;
@external("extism:host/env", "store_u8")
declare function storeByte(address: u64, value: u8): void;
@external("extism:host/env", "output_set")
declare function setOutput(address: u64, length: u64): void;
@external("extism:host/env", "error_set")
declare function setError(address: u64): void;

/** What the agent says to the tool. */
export function input(): string {
  const bytes = new Uint8Array(<i32>inputLength());
  for (let at = 0; at < bytes.length; at++) bytes[at] = inputByte(<u64>at);
  return String.UTF8.decode(bytes.buffer);
}

/** What the agent is answered. Return it from `run`: 0 says that all went well. */
export function output(text: string): i32 {
  const bytes = String.UTF8.encode(text);
  setOutput(stored(bytes), <u64>bytes.byteLength);
  return 0;
}

/** Why it can't be done, for the agent. Return it from `run`. */
export function failure(text: string): i32 {
  setError(stored(String.UTF8.encode(text)));
  return 1;
}

function stored(text: ArrayBuffer): u64 {
  const bytes = Uint8Array.wrap(text);
  const address = allocate(<u64>bytes.length);
  for (let at = 0; at < bytes.length; at++) storeByte(address + <u64>at, bytes[at]);
  return address;
}
