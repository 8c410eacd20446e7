/** The channel put together. What needs the library of the network is loaded with the first connection. */
import type { Channel, Contributions, FeatureContext } from "@svc/contract";
import type { Config } from "./config.ts";

/** A longer one in a gift wrap, encrypted twice, is more than some relays take. */
const TEXT_CHARS = 4_000;

export function create(context: FeatureContext<Config>): Contributions {
  let loading: ReturnType<typeof load> | undefined;
  const loaded = (): ReturnType<typeof load> => (loading ??= load(context));
  const channel: Channel = {
    text: { maxChars: TEXT_CHARS },
    send: async (message, signal) => (await loaded()).sender.send(message, signal),
    check: async (signal) => (await loaded()).account.check(signal),
    setup: async (options, signal) => (await loaded()).account.setup(options, signal),
  };
  return {
    channel,
    async run(signal) {
      signal.throwIfAborted();
      const { receive, sender } = await loaded();
      const ending = new AbortController();
      const republishing = sender.publishAgain(AbortSignal.any([signal, ending.signal]));
      republishing.catch(() => undefined);
      try {
        await receive(signal);
      } finally {
        ending.abort(new Error("the connections have ended"));
        await republishing.catch(() => undefined);
      }
    },
  };
}

async function load(context: FeatureContext<Config>) {
  const [{ identityOf }, { relaysOf }, { senderOf }, { accountOf }, { receiveMessages }] = await Promise.all([
    import("./protocol.ts"),
    import("./relays.ts"),
    import("./send.ts"),
    import("./account.ts"),
    import("./receive.ts"),
  ]);
  const identity = identityOf(context.config.private_key);
  const relays = relaysOf(context, identity);
  const deps = { context, identity, relays };
  return {
    sender: senderOf(deps),
    account: accountOf(deps),
    receive: (signal: AbortSignal) => receiveMessages(deps, signal),
  };
}
