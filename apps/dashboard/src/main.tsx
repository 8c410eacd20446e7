import { render } from "preact";
import { takePairingCode } from "./client/session.ts";
import { ServicesProvider, followSession, makeServices, useServices } from "./services.ts";
import { Shell } from "./shell/shell.tsx";
import { useCell } from "./state/cell.ts";
import { languageOf, showLanguage, shown } from "./texts/texts.ts";
import { SignIn, Unreachable } from "./views/sign-in.tsx";

const root = document.getElementById("page");
if (root !== null) {
  const code = takePairingCode(window);
  // A link that is opened in a tab of ours loads nothing. Before the route is followed: a code is no place.
  window.addEventListener("hashchange", () => void services.session.openLink(takePairingCode(window)));
  const services = makeServices(window);
  void services.session.openLink(code);
  void services.session.start().then(() => followSession(services, window));
  shown.follow(() => (document.documentElement.lang = shown.value.language));
  const draw = (): void =>
    render(
      <ServicesProvider value={services}>
        <App />
      </ServicesProvider>,
      root,
    );
  // Whose texts can't be loaded gets English ones.
  void showLanguage(languageOf(window)).then(draw, draw);
}

function App() {
  const state = useCell(useServices().session.state);
  // Everything is drawn anew in another language.
  useCell(shown);
  switch (state.phase) {
    case "starting":
      return state.problem === undefined ? null : <Unreachable />;
    case "out":
      return <SignIn />;
    default:
      return <Shell />;
  }
}
