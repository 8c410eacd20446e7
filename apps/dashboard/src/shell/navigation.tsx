/** The places: a rail at the left, tabs at the bottom of a phone. Views of one place are listed beside it. */
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { ThemeSwitch } from "../parts/theme-switch.tsx";
import { hrefOf } from "../route/route.ts";
import { useServices } from "../services.ts";
import { useDevice, useMayOperate } from "../session/use-device.ts";
import { type Action, useAction } from "../state/use-action.ts";
import { usePhone } from "../state/use-media.ts";
import { offeredViews, PLACES, placeOf } from "./places.tsx";
import { useRunningFeatures } from "./use-running-features.ts";
import { WaitingCount } from "./waiting-count.tsx";

export function Rail({ at }: { readonly at: string }) {
  const mayOperate = useMayOperate();
  const features = useRunningFeatures();
  const isPhone = usePhone();
  const signOut = useSignOut();
  const current = placeOf(at);
  return (
    <header class="rail">
      <a class="rail-mark" href={hrefOf("")} aria-label="svc">
        <Icon name="mark" />
      </a>
      <nav aria-label="Places">
        <ul>
          {PLACES.map((place) => {
            const [first] = offeredViews(place, mayOperate, features);
            if (first === undefined) return null;
            return (
              <li key={place.id} class={`rail-${place.id}`}>
                <a href={hrefOf(first.view)} title={place.label} aria-current={place === current ? "true" : undefined}>
                  <Icon name={place.icon} />
                  <span class="rail-label">{place.label}</span>
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
            aria-label="Sign out"
            title="Sign out"
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
  const place = placeOf(at);
  if (place === undefined || place.id === "chats") return null;
  const views = offeredViews(place, mayOperate, features);
  if (views.length < 2) return null;
  return (
    <div class="subnav">
      <p class="subnav-title">{place.label}</p>
      <nav aria-label={place.label}>
        <ul>
          {views.map(({ view, label }) => (
            <li key={view}>
              <a href={hrefOf(view)} aria-current={view === at ? "page" : undefined}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {place.id === "settings" && <Foot />}
    </div>
  );
}

function useSignOut(): Action<[]> {
  const { session } = useServices();
  return useAction(() => session.signOut());
}

function Foot() {
  const device = useDevice();
  const isPhone = usePhone();
  const signOut = useSignOut();
  return (
    <div class="foot">
      <ThemeSwitch />
      <p class="hint">
        <Name>{device?.name ?? ""}</Name>, {device?.scope}
      </p>
      {isPhone && (
        <button type="button" class="button" disabled={signOut.isRunning} onClick={() => void signOut.run()}>
          Sign out
        </button>
      )}
      <Problem error={signOut.error} />
    </div>
  );
}
