/** `svc channels setup mailpush`: the push subscription, as far as the token may make one, and the watch. */
import { SvcError, trimEndOf } from "@svc/contract";
import * as v from "valibot";
import type { MailApi } from "./api.ts";
import type { Config } from "./config.ts";
import type { Watch } from "./watch.ts";

export async function setUp(
  { config, api, watch }: { readonly config: Config; readonly api: MailApi; readonly watch: Watch },
  publicUrl: string,
  signal: AbortSignal,
): Promise<string> {
  const url = config.webhook_url ?? publicUrl;
  if (!/^https:\/\//i.test(url)) {
    throw new SvcError("CHANNEL_CANNOT", "Pub/Sub pushes only to https URLs, and none is configured.", {
      hint: "Set gateway.public_url, or webhook_url in [channels_config.mailpush].",
    });
  }
  const subscription = subscriptionOf(config.topic);
  const made = await subscribe(config, api, subscription, url, signal);
  const { endsAtMs } = await watch.renew(signal);
  return [
    `${subscription} ${made} and pushes to ${url}.`,
    `The mailbox is watched until ${new Date(endsAtMs).toISOString().slice(0, 16)}Z; svc renews that by itself.`,
    ...(config.push_audience
      ? []
      : ["Pushes are not signed: set push_audience and push_service_account, and run this again."]),
  ].join(" ");
}

/** In the project of the topic, by its name. */
const subscriptionOf = (topic: string): string => `${topic.replace("/topics/", "/subscriptions/")}-svc`;

async function subscribe(
  config: Config,
  api: MailApi,
  subscription: string,
  url: string,
  signal: AbortSignal,
): Promise<"is made" | "is updated"> {
  const pushConfig = { pushEndpoint: url, ...oidcToken(config) };
  const path = `${trimEndOf(config.pubsub_url, "/")}/v1/${subscription}`;
  const wanted = { topic: config.topic, pushConfig, ...LASTING };
  const ask = (request: Parameters<MailApi["call"]>[0]) => api.call({ answers: [403, 404, 409], ...request }, signal);
  const made = await ask({ path, method: "PUT", json: wanted });
  if (made.status === 200) return "is made";
  if (made.status !== 409) throw byHand(config, subscription, url);
  const there = v.safeParse(v.object({ topic: v.string() }), (await ask({ path })).json);
  if (there.success && there.output.topic !== config.topic) {
    throw new SvcError("CHANNEL_CANNOT", `${subscription} is there already, for another topic.`, {
      hint: "Delete it in the cloud console, or use another topic.",
    });
  }
  const changed = await ask({ path: `${path}:modifyPushConfig`, method: "POST", json: { pushConfig } });
  if (changed.status === 200) return "is updated";
  throw byHand(config, subscription, url);
}

/** It never ends for lack of pushes; what is not taken is kept for a week, and tried less often with time. */
const LASTING = {
  ackDeadlineSeconds: 60,
  messageRetentionDuration: "604800s",
  expirationPolicy: {},
  retryPolicy: { minimumBackoff: "10s", maximumBackoff: "600s" },
};

const oidcToken = ({ push_service_account, push_audience }: Config) =>
  push_service_account && push_audience
    ? { oidcToken: { serviceAccountEmail: push_service_account, audience: push_audience } }
    : {};

function byHand(config: Config, subscription: string, url: string): SvcError {
  const [, project, , name] = subscription.split("/");
  const { push_service_account: account, push_audience: audience } = config;
  const signed =
    account && audience ? ` --push-auth-service-account=${account} --push-auth-token-audience=${audience}` : "";
  return new SvcError(
    "CHANNEL_CANNOT",
    "The token may not manage push subscriptions of this project, or there is no such topic.",
    {
      hint:
        "By hand: gcloud pubsub subscriptions create " +
        `${name} --project=${project} --topic=${config.topic} --push-endpoint=${url}${signed} --ack-deadline=60 --expiration-period=never`,
    },
  );
}
