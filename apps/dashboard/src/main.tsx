/** The entry: signs in with a pairing code of the address, loads the language, renders the page. */
import { render } from "preact";
import { takePairingCode } from "./client/session.ts";
import { ServicesProvider, followSession, makeServices, useServices } from "./services.ts";
import { Shell } from "./shell/shell.tsx";
import { useCell } from "./cell.ts";
import { languageOf, showLanguage, shown } from "./texts/texts.ts";
import { SignIn, Unreachable } from "./views/sign-in.tsx";

const root = document.getElementById("page");
if (root !== null) {
  const code = takePairingCode(window);
  // A pairing link that is opened in this tab changes only the hash. Register before `followRoute`: a code is not a route.
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
  // If the texts can't be loaded, the page stays English.
  void showLanguage(languageOf(window)).then(draw, draw);
}

function App() {
  const state = useCell(useServices().session.state);
  // Re-render everything after a change of the language.
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
