/** The places: a rail at the left, tabs at the bottom of a phone. Views of one place are listed beside it. */
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
import { PLACES, offeredViews, placeOf } from "./views.tsx";

export function Rail({ at }: { readonly at: string }) {
  const mayOperate = useMayOperate();
  const features = useRunningFeatures();
  const isPhone = usePhone();
  const { session } = useServices();
  const signOut = useAction(() => session.signOut());
  const current = placeOf(at);
  return (
    <header class="rail">
      <a class="rail-mark" href={hrefOf("")} aria-label={PRODUCT}>
        <Icon name="mark" />
      </a>
      <nav aria-label={t("shell.places")}>
        <ul>
          {PLACES.map((place) => {
            const [first] = offeredViews(place, mayOperate, features);
            if (first === undefined) return null;
            return (
              <li key={place.id} class={`rail-${place.id}`}>
                <a
                  href={hrefOf(first.view)}
                  title={t(place.label)}
                  aria-current={place === current ? "true" : undefined}
                >
                  <Icon name={place.icon} />
                  <span class="rail-label">{t(place.label)}</span>
                  {place.id === "approvals" && <WaitingCount />}
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

/** Nothing for a place of one view. */
export function ViewsOfPlace({ at }: { readonly at: string }) {
  const mayOperate = useMayOperate();
  const features = useRunningFeatures();
  const isPhone = usePhone();
  const list = useRef<HTMLUListElement>(null);
  // On a phone they are in one row, and the row scrolls.
  useEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [at, isPhone]);
  const place = placeOf(at);
  if (place === undefined || place.id === "chats") return null;
  const views = offeredViews(place, mayOperate, features);
  if (views.length < 2) return null;
  return (
    <div class="subnav">
      <p class="subnav-title">{t(place.label)}</p>
      <nav aria-label={t(place.label)}>
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
      {place.id === "settings" && !isPhone && <Foot at={at} />}
    </div>
  );
}

/** On a phone it stands in the view of the appearance: above each view it would be in the way. */
function Foot({ at }: { readonly at: string }) {
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

/** How many approvals wait. Nothing when none does. */
function WaitingCount() {
  const query = { status: "waiting", limit: MOST + 1 };
  const { data } = useList<{ readonly approvals: readonly unknown[] }>("/api/approvals", ["approvals"], query);
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
