/** How the fake servers behave: the moods of other platforms, in the words of IMAP and SMTP. */
import type { PlatformMood } from "../../mood.ts";

export interface MailRequest {
  readonly protocol: "imap" | "smtp";
  /** The command; blank: a connection. */
  readonly line: string;
  /** A mail that was handed over. */
  readonly body?: Uint8Array;
}

/** What is left of a mood when chance and patience are decided. */
export type MailMood = Exclude<PlatformMood, { readonly slow: unknown } | { readonly fails: unknown }>;

export interface MailMoods {
  /** Records the request, and resolves with what becomes of it. */
  of(request: MailRequest): Promise<MailMood>;
}

export interface Requests extends MailMoods {
  readonly requests: readonly MailRequest[];
  mood: PlatformMood | ((request: MailRequest) => PlatformMood);
  arrived(index: number): Promise<MailRequest>;
}

export function recordRequests(): Requests {
  const requests: MailRequest[] = [];
  const awaited = new Map<number, PromiseWithResolvers<MailRequest>>();
  const resolved = async (mood: PlatformMood): Promise<MailMood> => {
    if (typeof mood === "string") return mood;
    if ("fails" in mood) return mood.random() < mood.fails ? resolved(mood.how) : "takes";
    if ("slow" in mood) {
      await mood.slow();
      return "takes";
    }
    return mood;
  };
  const all: Requests = {
    requests,
    mood: "takes",
    of(request) {
      awaited.get(requests.push(request) - 1)?.resolve(request);
      return resolved(typeof all.mood === "function" ? all.mood(request) : all.mood);
    },
    arrived(index) {
      const already = requests[index];
      if (already !== undefined) return Promise.resolve(already);
      const arrival = awaited.get(index) ?? Promise.withResolvers<MailRequest>();
      awaited.set(index, arrival);
      return arrival.promise;
    },
  };
  return all;
}
