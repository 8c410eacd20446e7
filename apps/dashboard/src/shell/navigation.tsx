/** The areas of the page: a rail at the left, tabs at the bottom of a phone. The views of one area are listed beside it. */
import type { ApprovalPage } from "@svc/api";
import { useEffect, useRef } from "preact/hooks";
import { ThemeSwitch } from "../components/browser-settings.tsx";
import { Icon } from "../components/icon.tsx";
import { Problem } from "../components/shown.tsx";
import { Name } from "../components/text.tsx";
import { useDevice, useMayOperate, useServices } from "../services.ts";
import { hrefOf } from "../state/route.ts";
import { useAction } from "../state/use-action.ts";
import { useList, useRunningFeatures } from "../state/use-reader.ts";
import { usePhone } from "../state/use-window.ts";
import { PRODUCT, t, wordOf } from "../texts/texts.ts";
import { AREAS, offeredViews, areaOf } from "./views.tsx";

export function Rail({ at }: { readonly at: string }) {
  const mayOperate = useMayOperate();
  const features = useRunningFeatures();
  const isPhone = usePhone();
  const { session } = useServices();
  const signOut = useAction(() => session.signOut());
  const current = areaOf(at);
  return (
    <header class="rail">
      <a class="rail-mark" href={hrefOf("")} aria-label={PRODUCT}>
        <Icon name="mark" />
      </a>
      <nav aria-label={t("shell.areas")}>
        <ul>
          {AREAS.map((area) => {
            const [first] = offeredViews(area, mayOperate, features);
            if (first === undefined) return null;
            return (
              <li key={area.id} class={`rail-${area.id}`}>
                <a href={hrefOf(first.view)} title={t(area.label)} aria-current={area === current ? "true" : undefined}>
                  <Icon name={area.icon} />
                  <span class="rail-label">{t(area.label)}</span>
                  {area.id === "approvals" && <WaitingCount />}
                </a>
              </li>
            );
          })}
        </ul>
      </nav>
      {!isPhone && (
        <>
          <button
            type="button"
            class="rail-button"
            aria-label={t("common.sign-out")}
            title={t("common.sign-out")}
            disabled={signOut.isRunning}
            onClick={() => void signOut.run()}
          >
            <Icon name="out" />
          </button>
          <Problem error={signOut.error} />
        </>
      )}
    </header>
  );
}

/** Draws nothing for an area with one view. */
export function ViewsOfArea({ at }: { readonly at: string }) {
  const mayOperate = useMayOperate();
  const features = useRunningFeatures();
  const isPhone = usePhone();
  const list = useRef<HTMLUListElement>(null);
  // On a phone they are one row that scrolls.
  useEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [at, isPhone]);
  const area = areaOf(at);
  if (area === undefined || area.id === "chats") return null;
  const views = offeredViews(area, mayOperate, features);
  if (views.length < 2) return null;
  return (
    <div class="subnav">
      <p class="subnav-title">{t(area.label)}</p>
      <nav aria-label={t(area.label)}>
        <ul ref={list}>
          {views.map(({ view, label }) => (
            <li key={view}>
              <a href={hrefOf(view)} aria-current={view === at ? "page" : undefined}>
                {label && t(label)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {area.id === "settings" && !isPhone && <RailFooter at={at} />}
    </div>
  );
}

/** Device, theme and sign-out. On a phone they are in the appearance view. */
function RailFooter({ at }: { readonly at: string }) {
  const device = useDevice();
  return (
    <div class="foot">
      {at !== "appearance" && <ThemeSwitch />}
      <p class="hint">
        <Name>{device?.name ?? ""}</Name>, {wordOf(device?.scope ?? "")}
      </p>
    </div>
  );
}

const MOST = 99;

/** The number of pending approvals. Draws nothing for zero. */
function WaitingCount() {
  const query = { status: "waiting", limit: MOST + 1 };
  const { data } = useList<ApprovalPage>("/api/approvals", ["approvals"], query);
  const { pageTitle } = useServices();
  const waiting = data?.approvals.length ?? 0;
  useEffect(() => {
    pageTitle.waiting.set(waiting);
    return () => pageTitle.waiting.set(0);
  }, [waiting]);
  if (waiting === 0) return null;
  return (
    <span class="count">
      {waiting > MOST ? `${MOST}+` : waiting}
      <span class="unseen"> {t("shell.waiting")}</span>
    </span>
  );
}
