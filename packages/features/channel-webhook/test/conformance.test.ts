// What every feature and every channel keeps, against a receiver that is strict, hostile, slow or gone.
import { channelConformance } from "@svc/testkit/conformance/channel-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { fakeClock } from "@svc/testkit/fake-clock";
import { startWebhookReceiver } from "@svc/testkit/platforms/webhook/receiver";
import definition from "../src/index.ts";

const root = `${import.meta.dirname}/..`;
const SECRET = "whsec_b3V0Z29pbmctd2ViaG9vay1rZXktMDEyMzQ1";
const AUTHORIZATION = "Bearer receiver-token-0123456789";
const section = { url_secret: SECRET, authorization: AUTHORIZATION };

featureConformance(definition, { root, config: { ...section, url: "https://receiver.example.org/hooks/agent" } });

channelConformance(definition, {
  root,
  platform: () =>
    startWebhookReceiver({ secret: SECRET, authorization: AUTHORIZATION, nowMs: () => fakeClock().now() }),
  config: ({ hook }) => ({ ...section, url: hook }),
  conversation: () => ({ id: "operations" }),
  onlySends: true,
  ownTextLimit: true,
  idempotent: true,
  checkProves: "reachability",
});
