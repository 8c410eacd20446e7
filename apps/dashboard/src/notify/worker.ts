/**
 * The worker that shows notifications. It has no page to ask while it works, so its address brings its texts along, in the language
 * of the page that registered it; one of another language takes its place.
 */
import { t } from "../texts/texts.ts";

export const workerAddress = (): string =>
  `/sw.js?${new URLSearchParams({ waiting: t("notify.an-approval-is-waiting"), works: t("notify.push-messages-work") })}`;
