import { useServices } from "../services.ts";
import { useCell } from "../state/cell.ts";
import { brief, duration, exact, relative } from "../text/time.ts";
import { t } from "../texts/texts.ts";

/** A moment, from now. */
export function Ago({ at }: { readonly at: string }) {
  const nowMs = useCell(useServices().nowMs);
  const atMs = Date.parse(at);
  if (Number.isNaN(atMs)) return <>{t("parts.unknown")}</>;
  // What has just come must not be a moment ahead of a clock that ticks now and then.
  const shownMs = Math.max(nowMs, atMs < Date.now() ? Math.min(Date.now(), atMs) : nowMs);
  return (
    <time dateTime={at} title={exact(atMs)}>
      {relative(atMs, shownMs)}
    </time>
  );
}

/** The same where there is little room. */
export function BriefAgo({ at }: { readonly at: string }) {
  const nowMs = useCell(useServices().nowMs);
  const atMs = Date.parse(at);
  if (Number.isNaN(atMs)) return null;
  return (
    <time dateTime={at} title={exact(atMs)}>
      {brief(atMs, nowMs)}
    </time>
  );
}

/** How long it took, or has taken so far. */
export function Took({ from, to }: { readonly from: string; readonly to: string | null }) {
  const nowMs = useCell(useServices().nowMs);
  const endMs = to === null ? Math.max(nowMs, Date.parse(from)) : Date.parse(to);
  return <span class="took">{duration(endMs - Date.parse(from))}</span>;
}
