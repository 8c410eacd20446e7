/** The address that providers call. They sign, but whoever is between them and us reads along, so it must be https. */

/** A sentence for what can't be taken, beyond the rules of the config. */
export function publicUrlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" || isLoopback(url.hostname)) return undefined;
  return "must begin with https:// unless it is this machine's own loopback address";
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
