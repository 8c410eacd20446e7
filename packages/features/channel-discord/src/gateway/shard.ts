/**
 * The library's connection, with what it keeps to itself: it can't be ended while it connects, and a frame that is none of the
 * platform's would end the process, as nobody waits for the promise that rejects. So would a connection that nobody answers: the
 * library no longer listens to one that it has given up before it was made.
 */
import { type IContextFetchingStrategy, WebSocketShard } from "@discordjs/ws";

export interface Shard {
  readonly shard: WebSocketShard;
  /** Ends it at once, in whatever state it is, if its strategy lets it connect no more. */
  end(): void;
}

/** Private members of the library's class, in the version that the catalog pins; shard.test.ts would miss each. */
interface Inside {
  connection: Connection | null;
  onMessage(data: unknown, isBinary: boolean): Promise<void>;
  internalConnect(): Promise<void>;
}

interface Connection {
  on(event: "error", listener: () => void): void;
  terminate(): void;
}

/** `onFailed`: what the platform sent can't be read, or it can't be connected to at all. */
export function shardOf(strategy: IContextFetchingStrategy, onFailed: () => void): Shard {
  const shard = new WebSocketShard(strategy, 0);
  const inside = shard as unknown as Inside;
  keepConnections(inside);
  const { onMessage, internalConnect } = inside;
  let isOver = false;
  inside.onMessage = async (data, isBinary) => {
    if (!isOver) await onMessage.call(shard, data, isBinary).catch(onFailed);
  };
  inside.internalConnect = () => internalConnect.call(shard).catch(onFailed);
  // Without a listener it would be thrown. That it could not connect shows in that it tries again.
  shard.on("error", () => undefined);
  return {
    shard,
    end() {
      isOver = true;
      const { connection } = inside;
      // 1000: the bot is shown as offline at once.
      shard.destroy({ code: 1000 }).catch(() => undefined);
      // By then the frame that closes it is written; a platform that is gone would be waited for half a minute.
      setImmediate(() => connection?.terminate());
    },
  };
}

/** Each has somebody who listens, and the one before it is ended when the next one comes. */
function keepConnections(inside: Inside): void {
  let current = inside.connection;
  Object.defineProperty(inside, "connection", {
    get: () => current,
    set(next: Connection | null) {
      next?.on("error", () => undefined);
      if (next !== current) current?.terminate();
      current = next;
    },
  });
}
