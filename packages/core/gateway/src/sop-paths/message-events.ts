/** Messages of channels as events that start procedures. */
import type { Alongside } from "@svc/agent";
import type { RegisteredIngress } from "@svc/kernel";
import type { Sops } from "@svc/sop";

type Dispatch = Pick<Sops, "hasPath" | "dispatchIn">;

/**
 * Each message of an arrival that is kept, and was not seen before, is one event of its path; its runs are on disk with it or
 * not at all, so that no kill loses one of the two. Undefined: nothing is started by that path.
 */
export function messageEvents(sops: Dispatch, path: string): Alongside | undefined {
  if (!sops.hasPath(path)) return undefined;
  return ({ messages }, arrived) => {
    if (arrived.state === "replayed") return undefined;
    const started = messages.flatMap(({ kind, body }, index) => {
      if (kind !== "message" || arrived.messages[index] === "duplicate") return [];
      const event = { source: "webhook", topic: path, payload: JSON.stringify(body) } as const;
      return [sops.dispatchIn(event, { by: `webhook ${path}` })];
    });
    return () => started.forEach((pending) => pending.committed());
  };
}

/**
 * The same for messages that a channel hands over itself, as one does that is only told that there are some: they belong to
 * its path, if it has exactly one.
 */
export function receivedEvents(
  sops: Dispatch,
  ingress: readonly RegisteredIngress[],
  channel: string,
): Alongside | undefined {
  const [way, ...others] = ingress.filter((one) => one.channel === channel);
  return way && others.length === 0 ? messageEvents(sops, way.ingress.path) : undefined;
}
