import { useEffect } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/problem.tsx";
import { prepareAuthenticator, signInByPasskey } from "../../passkeys/passkeys.ts";
import { obstacleOn } from "../../passkeys/obstacle.ts";
import { ObstacleNote } from "../../passkeys/obstacle-note.tsx";
import { usePasskeySignIn } from "../../passkeys/use-ways.ts";
import { useServices } from "../../services.ts";
import { signInAdvice } from "../../session/session.ts";
import { useAction } from "../../state/use-action.ts";
import { t } from "../../texts/texts.ts";

/** Nothing where the service takes no passkeys. */
export function PasskeySignIn() {
  if (usePasskeySignIn() !== true) return null;
  const obstacle = obstacleOn(window);
  return obstacle === undefined ? <PasskeyButton /> : <ObstacleNote obstacle={obstacle} />;
}

function PasskeyButton() {
  const { session } = useServices();
  const { run, isRunning, error } = useAction(async () => {
    const kept = await signInByPasskey();
    if (kept !== undefined) session.enter(kept);
  });
  useEffect(prepareAuthenticator, []);
  return (
    <div class="passkey">
      <Button kind="main" busy={isRunning} onPress={() => void run()}>
        {t("sign-in.sign-in-with-a-passkey")}
      </Button>
      <Problem error={error} />
      {error === undefined ? null : <p class="hint">{signInAdvice(error)}</p>}
    </div>
  );
}
