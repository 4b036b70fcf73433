// Browsers start no workers for pages that are opened from a folder. There, search runs in a frame of the page instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => {
        const message = new MessageEvent("message", { data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      };
      const script = inside.document.createElement("script");
      script.src = address;
      const loaded = new Promise((resolve) => script.addEventListener("load", resolve));
      inside.document.body.append(script);
      this.postMessage = (data) => loaded.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
      this.terminate = () => frame.remove();
    }
  };
}
