/**
 * The way to where the platform says: only to an address that was checked a moment before, and only as long as something is
 * heard.
 */
import { isIP, type Socket } from "node:net";
import { type FeatureContext, SvcError } from "@svc/contract";
import { Agent, buildConnector } from "undici";

export interface CheckedLine {
  readonly dispatcher: Agent;
  /** Resolves the host of a URL that the platform handed out. Throws ADDRESS_REFUSED, REMOTE_UNREACHABLE. */
  check(url: string | undefined): Promise<void>;
  /** Why it was ended from this side; undefined: it was not. */
  readonly why: SvcError | undefined;
  /** Ends it after sending pending writes. */
  close(): void;
}

/** The platform pings every few seconds, and answers pings of ours. */
const SILENCE_MS = 30_000;
const LOOK_MS = 10_000;
const CONNECT_LIMIT_MS = 10_000;

export function checkedLine({ clock, resolve }: Pick<FeatureContext, "clock" | "resolve">): CheckedLine {
  const connect = buildConnector({ allowH2: false, timeout: CONNECT_LIMIT_MS });
  let checked: { readonly host: string; readonly addresses: readonly string[] } | undefined;
  let socket: Socket | undefined;
  let why: SvcError | undefined;
  let unwatch = (): void => undefined;

  const watch = (line: Socket): void => {
    let heardMs = clock.monotonic();
    let bytes = line.bytesRead;
    const look = (): void => {
      const nowMs = clock.monotonic();
      // Counted, not listened for: a listener of ours would take what the client has not asked for yet.
      if (line.bytesRead !== bytes) [bytes, heardMs] = [line.bytesRead, nowMs];
      if (nowMs - heardMs < SILENCE_MS) return void (unwatch = clock.after(LOOK_MS, look));
      why ??= new SvcError("REMOTE_TIMEOUT", "Slack has said nothing for half a minute.");
      line.destroy();
    };
    line.on("close", () => unwatch());
    unwatch = clock.after(LOOK_MS, look);
  };

  const dispatcher = new Agent({
    connect(options, callback) {
      const host = options.hostname.replace(/^\[(.*)\]$/, "$1");
      if (checked?.host !== host) return callback(new SvcError("ADDRESS_REFUSED"), null);
      const [address = host] = checked.addresses;
      // TLS checks the certificate against the name in the URL, never against the address.
      const servername = isIP(host) === 0 ? { servername: host } : {};
      connect({ ...options, hostname: address, ...servername }, (...outcome) => {
        if (outcome[1]) watch((socket = outcome[1]));
        callback(...outcome);
      });
    },
  });

  return {
    dispatcher,
    get why() {
      return why;
    },
    async check(text) {
      if (text === undefined || !URL.canParse(text)) return;
      const { protocol, hostname } = new URL(text);
      if (protocol !== "wss:" && protocol !== "ws:")
        throw new SvcError("ADDRESS_REFUSED", "Slack returned an address that is not a WebSocket URL.");
      const host = hostname.replace(/^\[(.*)\]$/, "$1");
      checked = { host, addresses: await resolve(text) };
    },
    close() {
      unwatch();
      socket?.destroySoon();
      void dispatcher.destroy().catch(() => undefined);
    },
  };
}
