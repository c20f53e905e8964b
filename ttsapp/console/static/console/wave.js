// Draws how loud a take is, as it grows, with a line where the listener is.
const PEAKS = 50; // a second
const SHORTEST = 4; // seconds that the picture holds at least

export class Wave {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.clear(24000);
  }

  // For samples at that rate.
  clear(rate) {
    this.step = Math.round(rate / PEAKS);
    this.peaks = [];
    this.count = 0;
    this.peak = 0;
    this.draw(0);
  }

  add(samples) {
    for (const sample of samples) {
      this.peak = Math.max(this.peak, Math.abs(sample));
      this.count += 1;
      if (this.count % this.step === 0) {
        this.peaks.push(this.peak);
        this.peak = 0;
      }
    }
  }

  draw(position) {
    const { width, height } = this.canvas;
    const slots = Math.max(SHORTEST * PEAKS, this.peaks.length);
    this.context.clearRect(0, 0, width, height);
    this.context.fillStyle = getComputedStyle(this.canvas).color;
    this.peaks.forEach((peak, place) => {
      this.context.globalAlpha = place / PEAKS < position ? 1 : 0.4;
      const high = Math.max(2, peak * height);
      this.context.fillRect((place / slots) * width, (height - high) / 2, Math.max(1, width / slots - 1), high);
    });
    this.context.globalAlpha = 1;
  }
}
