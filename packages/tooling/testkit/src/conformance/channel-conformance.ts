/**
 * What every channel keeps, from a delivery at its door to a message on the platform. A package joins with a fake platform
 * that behaves like the real one, and deliveries as the platform makes them:
 *
 *     channelConformance(definition, { root: `${import.meta.dirname}/..`, platform, config, conversation, deliveries });
 *
 * One whose messages come in by `run` hands in `arrivals` instead; one that has both ways is handed in once for each section.
 */
import type { FeatureDefinition } from "@svc/contract";
import { type Check, describeChecks } from "../check.ts";
import { arrivalChecks } from "./channel/arrival-checks.ts";
import { asideChecks } from "./channel/aside-checks.ts";
import { draftChecks } from "./channel/draft-checks.ts";
import { healthChecks } from "./channel/health-checks.ts";
import { markChecks } from "./channel/mark-checks.ts";
import { mediaChecks } from "./channel/media-checks.ts";
import { benchOf } from "./channel/open.ts";
import { parseChecks } from "./channel/parse-checks.ts";
import { promptChecks } from "./channel/prompt-checks.ts";
import { pathChecks, sampleChecks } from "./channel/sample-checks.ts";
import { sendChecks } from "./channel/send-checks.ts";
import type { ChannelPlatform, ChannelSubject } from "./channel/subject.ts";
import { textChecks } from "./channel/text-checks.ts";
import { verifyChecks } from "./channel/verify-checks.ts";

export { rawOf } from "./channel/delivered.ts";
export { everyAlteredForm } from "./channel/hostile-form.ts";
export { everyAlteration } from "./channel/hostile-json.ts";
export { flawOf } from "./channel/inbound.ts";
export type {
  ArrivalSubject,
  ButtonPress,
  ChannelPlatform,
  ChannelSubject,
  DeliverySubject,
  MediaSubject,
  PlatformMessage,
  PlatformSent,
  PromptSubject,
  Section,
} from "./channel/subject.ts";

export function channelConformance<Platform extends ChannelPlatform>(
  definition: FeatureDefinition,
  subject: ChannelSubject<Platform>,
): void {
  describeChecks(`channel ${definition.id}`, channelChecks(definition, subject));
}

/** `promptMs`: how long something may take that must happen at once. */
export function channelChecks<Platform extends ChannelPlatform>(
  definition: FeatureDefinition,
  subject: ChannelSubject<Platform>,
  promptMs?: number,
): Check[] {
  const bench = benchOf(definition, subject as unknown as ChannelSubject, promptMs);
  return [
    ...pathChecks(bench),
    ...sendChecks(bench),
    ...textChecks(bench),
    ...healthChecks(bench),
    ...markChecks(bench),
    ...asideChecks(bench),
    ...mediaChecks(bench),
    ...promptChecks(bench),
    ...draftChecks(bench),
    ...arrivalChecks(bench),
    ...(subject.deliveries === undefined
      ? []
      : [...verifyChecks(bench), ...parseChecks(bench), ...sampleChecks(bench)]),
  ];
}
