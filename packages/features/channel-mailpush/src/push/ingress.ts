/** `POST /webhook/mailpush`: a push says that there is mail, not which. It is kept, and the mailbox read after that. */
import type { FeatureContext, Ingress } from "@svc/contract";
import { readJson } from "@svc/kit";
import type { Config } from "../config.ts";
import { createBearerCheck } from "./bearer.ts";
import type { SigningKeys } from "./keys.ts";
import { noticeOf, notificationOf } from "./notification.ts";

export function createIngress({ config }: FeatureContext<Config>, keys: SigningKeys): Ingress {
  const bearer = createBearerCheck(config, keys);
  return {
    path: "/webhook/mailpush",
    methods: ["POST"],
    signed: bearer.isDemanded,
    notifies: true,
    verify: bearer.verify,
    parse({ body }) {
      const told = notificationOf(readJson(body));
      if (told === undefined) return {};
      // One mailbox is read once at a time, whatever it calls itself.
      const notice = { lane: "mailbox", body: noticeOf(told) };
      return { notices: [told.messageId === undefined ? notice : { ...notice, id: told.messageId }] };
    },
    // A token of Pub/Sub can't be made here.
    ...(bearer.secret !== undefined || !bearer.isDemanded ? { sample: sampler(bearer.secret) } : {}),
  };
}

/** Beyond every history id, so that it makes the channel look for mail. */
const NEWEST = "18446744073709551615";

const sampler =
  (secret: string | undefined): NonNullable<Ingress["sample"]> =>
  ({ id, atMs, from = "me@example.com" }) => {
    const data = Buffer.from(`{"emailAddress":${JSON.stringify(from)},"historyId":${NEWEST}}`).toString("base64");
    const message = { data, messageId: id, publishTime: new Date(atMs).toISOString() };
    return {
      method: "POST",
      query: "",
      headers: {
        "content-type": "application/json",
        ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
      },
      body: Buffer.from(JSON.stringify({ message, subscription: "projects/sample/subscriptions/sample" })),
    };
  };
