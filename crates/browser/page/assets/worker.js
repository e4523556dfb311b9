// One run, in a worker: the page stays responsive, and ends the worker to stop the run.

onmessage = ({ data: { module, choice } }) => {
  const started = performance.now();
  const listener = {
    // The arrays are views of the module's memory.
    row: (at, levels, flows, dropped) => postMessage({ row: { at, levels: levels.slice(), flows: flows.slice(), dropped } }),
  };
  try {
    wasm_bindgen.initSync({ module });
    const finished = JSON.parse(wasm_bindgen.run(JSON.stringify(choice), listener));
    postMessage({ finished, seconds: (performance.now() - started) / 1000 });
  } catch (error) {
    postMessage({ error: String(error) });
  }
};
