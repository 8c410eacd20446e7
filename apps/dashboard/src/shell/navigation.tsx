/** The places: a rail at the left, tabs at the bottom of a phone. Views of one place are listed beside it. */
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { ThemeSwitch } from "../parts/theme-switch.tsx";
import { hrefOf } from "../route/route.ts";
import { useServices } from "../services.ts";
import { useDevice, useMayOperate } from "../session/use-device.ts";
import { useAction } from "../state/use-action.ts";
import { usePhone } from "../state/use-media.ts";
import { offeredViews, PLACES, placeOf } from "./places.tsx";
import { useRunningFeatures } from "./use-running-features.ts";
import { WaitingCount } from "./waiting-count.tsx";
import { PRODUCT, t, wordOf } from "../texts/texts.ts";

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
  const place = placeOf(at);
  if (place === undefined || place.id === "chats") return null;
  const views = offeredViews(place, mayOperate, features);
  if (views.length < 2) return null;
  return (
    <div class="subnav">
      <p class="subnav-title">{t(place.label)}</p>
      <nav aria-label={t(place.label)}>
        <ul>
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
