/** For who seals something and writes it where a rotation of the key looks only once. */
import { type KeyHome, type KeyRing, openKeyRing } from "./key-ring.ts";

/** Sealed text to what it says: nothing is lost while this is known. */
export type Made = Map<string, string>;

/**
 * A rotation that ran while `write` did may have left what it sealed without its key. Then `write` is called again, and
 * finds in `made` what it sealed before. Resolves with what the first call did.
 */
export async function withCurrentKey<T>(home: KeyHome, write: (ring: KeyRing, made: Made) => Promise<T>): Promise<T> {
  const made: Made = new Map();
  const result = await write(openKeyRing(home), made);
  for (let sealed = 0; made.size > sealed && !openKeyRing(home).isCurrent([...made.keys()].at(-1)!);) {
    sealed = made.size;
    await write(openKeyRing(home), made);
  }
  return result;
}
