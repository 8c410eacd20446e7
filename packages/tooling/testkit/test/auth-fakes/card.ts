/** A way to sign in with a card that shares a key with us; each flaw breaks one thing of it. */
import { createHmac, randomBytes } from "node:crypto";
import {
  type ClientId,
  type Contributions,
  defineFeature,
  type FeatureContext,
  type FeatureDefinition,
  type Json,
  type Route,
  type RouteCaller,
  SvcError,
} from "@svc/contract";
import { equalSecrets } from "@svc/kit";
import * as v from "valibot";

const config = v.strictObject({ sign_in: v.optional(v.boolean(), false) });
type Config = v.InferOutput<typeof config>;

export type Flaw =
  | "a path that is not in the manifest"
  | "a path that is only in the manifest"
  | "open without being told to"
  | "closed although told to be open"
  | "words that are no sentence"
  | "signs in as whoever enrolled first"
  | "signs in unasked"
  | "takes others' cards for one's own"
  | "takes cards that nobody has enrolled"
  | "takes a proof again"
  | "takes a proof again after a restart"
  | "looks, waits, and only then notes that a proof was used"
  | "takes an enrolment again"
  | "does not look who began"
  | "does not look what was begun"
  | "takes what is old"
  | "takes what is old by a clock that was set back"
  | "keeps cards in memory"
  | "takes the cards of a revoked device"
  | "keeps the cards of a revoked device"
  | "forgets what was begun when many begin"
  | "keeps what strangers begin"
  | "believes what it did not check"
  | "breaks on odd proofs"
  | "breaks on odd enrolments"
  | "tells the key"
  | "logs the key";

const ENROL = v.object({ nonce: v.string(), card: v.string(), key: v.string() });
const PROOF = v.object({ nonce: v.string(), card: v.string(), mac: v.string() });
const NONCE = v.object({ nonce: v.string() });
const DONE = v.looseObject({ done: v.literal(true) });

const LIFE_MS = 60_000;

interface Begun {
  readonly purpose: "enrol" | "prove";
  readonly client: string;
  readonly at: number;
  readonly id: string;
}

interface Card {
  readonly key: string;
  readonly owner: ClientId;
}

export const fakeAuth = (flaw?: Flaw): FeatureDefinition =>
  defineFeature({
    id: "card",
    section: "security.card",
    config,
    load: async () => ({ create: (context: FeatureContext<Config>) => create(context, flaw) }),
  }) as FeatureDefinition;

function create(context: FeatureContext<Config>, flaw: Flaw | undefined): Contributions {
  const { config, clock, log, pairedClient } = context;
  const isPaired = (owner: ClientId): boolean => pairedClient(owner) !== undefined;
  const has = (which: Flaw): boolean => flaw === which;
  const inMemory = new Map<string, string>();
  const kept = has("keeps cards in memory")
    ? {
        get: async (name: string) => inMemory.get(name),
        set: async (name: string, text: string) => void inMemory.set(name, text),
      }
    : context.secrets;
  const isFixed = has("takes a proof again after a restart");
  const key = isFixed ? Buffer.alloc(32) : randomBytes(32);
  const used = new Set<string>();
  const begun: string[] = [];
  const now = (): number => (has("takes what is old by a clock that was set back") ? clock.now() : clock.monotonic());

  const begin = async (purpose: Begun["purpose"], caller: RouteCaller): Promise<Json> => {
    const id = randomBytes(9).toString("base64url");
    const text = JSON.stringify({ purpose, client: nameOf(caller), at: now(), id } satisfies Begun);
    if (has("forgets what was begun when many begin") && begun.push(id) > 100) begun.shift();
    if (has("keeps what strangers begin")) await context.state.set(id, purpose);
    return { nonce: `${Buffer.from(text).toString("base64url")}.${macOf(key, text)}` };
  };

  const end = async (nonce: string, purpose: Begun["purpose"], caller: RouteCaller): Promise<void> => {
    const [encoded = "", mac] = nonce.split(".");
    const text = Buffer.from(encoded, "base64url").toString();
    if (!equalSecrets(mac, macOf(key, text))) throw new SvcError("BAD_REQUEST");
    const { purpose: of, client, at, id } = JSON.parse(text) as Begun;
    const again: Flaw = purpose === "prove" ? "takes a proof again" : "takes an enrolment again";
    if (used.has(id) && !has(again)) throw new SvcError("BAD_REQUEST");
    if (has("looks, waits, and only then notes that a proof was used")) await context.secrets.list();
    used.add(id);
    if (has("forgets what was begun when many begin") && !begun.includes(id)) throw new SvcError("BAD_REQUEST");
    if (now() - at >= LIFE_MS && !has("takes what is old")) throw new SvcError("BAD_REQUEST");
    if (of !== purpose && !has("does not look what was begun")) throw new SvcError("BAD_REQUEST");
    if (client !== nameOf(caller) && !has("does not look who began")) throw new SvcError("BAD_REQUEST");
  };

  const cardOf = async (id: string): Promise<Card | undefined> => {
    const text = await kept.get(`card/${id}`);
    return text === undefined ? undefined : (JSON.parse(text) as Card);
  };

  const enrol = async (body: v.InferOutput<typeof ENROL>, caller: RouteCaller): Promise<Json> => {
    if (caller.kind !== "device") throw new SvcError("UNAUTHORIZED");
    await end(body.nonce, "enrol", caller);
    Buffer.from(body.key, "base64url");
    await kept.set(`card/${body.card}`, JSON.stringify({ key: body.key, owner: caller.clientId } satisfies Card));
    if (has("logs the key")) log.info("a card", { key: body.key });
    return { done: true, ...(has("tells the key") && { key: body.key }) };
  };

  const owner = async (body: v.InferOutput<typeof PROOF>, caller: RouteCaller): Promise<ClientId> => {
    await end(body.nonce, "prove", caller);
    const card = await cardOf(body.card);
    if (card === undefined && has("takes cards that nobody has enrolled")) return "somebody" as ClientId;
    if (card === undefined) throw new SvcError("UNAUTHORIZED");
    const revoked: Flaw = "takes the cards of a revoked device";
    if (!isPaired(card.owner) && !has(revoked)) throw new SvcError("UNAUTHORIZED");
    const proves = equalSecrets(Buffer.from(body.mac).toString(), macOf(card.key, body.nonce));
    if (!proves && has("believes what it did not check")) return "client-ben" as ClientId;
    if (!proves) throw new SvcError("UNAUTHORIZED");
    const isOwn = caller.kind !== "device" || caller.clientId === card.owner || config.sign_in;
    if (!isOwn && !has("takes others' cards for one's own")) throw new SvcError("UNAUTHORIZED");
    return has("signs in as whoever enrolled first") ? ("client-ann" as ClientId) : card.owner;
  };

  const opens = has("open without being told to") || (config.sign_in && !has("closed although told to be open"));
  const access = opens ? "open" : "read";
  const signs = config.sign_in || has("signs in unasked");
  const route = (
    path: string,
    own: Partial<Route> & Pick<Route, "handle">,
    body: v.GenericSchema,
    answer: v.GenericSchema,
  ): Route => ({
    method: "POST",
    path,
    access: "read",
    doc: {
      summary: has("words that are no sentence") ? "cards" : "Cards.",
      body,
      answers: { 200: { description: "It is so.", body: answer } },
    },
    ...own,
  });
  const odd = (which: Flaw, schema: v.GenericSchema): v.GenericSchema => (has(which) ? v.any() : schema);
  const routes = [
    route(
      "/api/card/enrol",
      { handle: async ({ caller }) => ({ status: 200, body: await begin("enrol", caller) }) },
      v.any(),
      NONCE,
    ),
    route(
      "/api/card/enrolled",
      { handle: async ({ caller, body }) => ({ status: 200, body: await enrol(body as never, caller) }) },
      odd("breaks on odd enrolments", ENROL),
      DONE,
    ),
    route(
      "/api/card/begin",
      { access, handle: async ({ caller }) => ({ status: 200, body: await begin("prove", caller) }) },
      v.any(),
      NONCE,
    ),
    route(
      "/api/card/prove",
      {
        access,
        handle: async ({ caller, body }) => {
          const clientId = await owner(body as never, caller);
          return { status: 200, body: { done: true }, ...(signs && { signIn: clientId }) };
        },
      },
      odd("breaks on odd proofs", PROOF),
      DONE,
    ),
    route(
      has("a path that is not in the manifest") ? "/api/card/other" : "/api/card/cards",
      { method: "GET", handle: async () => ({ status: 200, body: { done: true } }) },
      v.any(),
      DONE,
    ),
  ];
  return {
    routes: has("a path that is only in the manifest") ? routes.slice(0, -1) : routes,
    async register() {
      if (has("keeps the cards of a revoked device")) return;
      for (const name of await context.secrets.list("card/")) {
        const card = await cardOf(name.slice("card/".length));
        if (card !== undefined && !isPaired(card.owner)) await context.secrets.delete(name);
      }
    },
  };
}

const nameOf = (caller: RouteCaller): string => (caller.kind === "device" ? caller.clientId : caller.kind);

export const macOf = (key: string | Buffer, text: string): string =>
  createHmac("sha256", key).update(text).digest("base64url");
