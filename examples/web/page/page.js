// Starts the program. Errors before it runs are shown here; later ones, by the program.
import init, { start } from "./web.js";

init().then(start).catch((error) => {
  document.body.dataset.state = "failed";
  document.getElementById("message").textContent = `The program could not be started: ${error.message ?? error}`;
});
