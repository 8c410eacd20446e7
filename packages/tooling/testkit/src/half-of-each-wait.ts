/** The wait before a retry is a random part of its longest (`retryDelayMs` of @svc/kit): for as long as this lives, half of it. */
export function halfOfEachWait(): Disposable {
  const { crypto } = globalThis;
  const random = crypto.getRandomValues;
  crypto.getRandomValues = <T extends Parameters<typeof random>[0]>(into: T): T => {
    if (!(into instanceof Uint32Array)) return random.call(crypto, into) as T;
    into.fill(2 ** 31);
    return into;
  };
  return { [Symbol.dispose]: () => void (crypto.getRandomValues = random) };
}
