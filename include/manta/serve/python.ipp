// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of python.hpp, and the program that the Python processes run behind python_channel(). Requests: 'T',
// the number of answers in one byte, and a batch: eight bytes with the length of a JSON text, the text, as that of an
// answer of the protocol, and binary data; 'V' and a list in JSON; 'C' and new settings in JSON; 'H' asks for the
// health. Answers to 'T': eight bytes with the length of a JSON text, the text, as that of a request of the protocol,
// and binary data.
#pragma once

#include "manta/base/text.hpp"
#include "manta/serve/python.hpp"

namespace manta::serve::detail {

inline constexpr const char* python_server = R"PYTHON(
import importlib.util, inspect
import numpy as np

KINDS = {'BOOL': '?', 'FP32': '<f4', 'FP64': '<f8'}
KINDS.update({('INT%d' if c == 'i' else 'UINT%d') % (8 * n): '<%s%d' % (c, n) for c in 'iu' for n in (1, 2, 4, 8)})
NAMES = {np.dtype(kind): name for name, kind in KINDS.items()}

def read_texts(data):
    texts = []
    while data:
        size = 4 + struct.unpack('<I', data[:4])[0]
        texts.append(data[4:size].decode())
        data = data[size:]
    return np.array(texts, dtype=object)

def read_tensor(message):
    size = struct.unpack('<Q', message[:8])[0]
    tensor = json.loads(message[8:8 + size])['outputs'][0]
    data = message[8 + size:]
    kind = tensor['datatype']
    array = read_texts(data) if kind == 'BYTES' else np.frombuffer(data, KINDS[kind]).copy()
    return array.reshape(tensor['shape'])

# The header and the bytes of one array.
def write_tensor(name, value, rows):
    array = np.asarray(value)
    if array.ndim == 0 or array.shape[0] != rows:
        raise ValueError('the model got %d requests and returned an array of shape %s; the first dimension has to be '
                         'the number of requests' % (rows, array.shape))
    if array.dtype == np.float16:
        array = array.astype('<f4')
    if array.dtype.kind in 'OSU':
        kind, texts = 'BYTES', [t if isinstance(t, bytes) else str(t).encode() for t in array.reshape(-1)]
        data = b''.join(struct.pack('<I', len(t)) + t for t in texts)
    elif array.dtype.newbyteorder('<') in NAMES:
        kind = NAMES[array.dtype.newbyteorder('<')]
        data = np.ascontiguousarray(array, KINDS[kind]).tobytes()
    else:
        raise TypeError('the model returned numbers of type %s, for which there is no tensor' % array.dtype)
    return {'name': name, 'shape': array.shape, 'datatype': kind, 'parameters': {'binary_data_size': len(data)}}, data

def write_tensors(values):
    head = json.dumps({'inputs': [h for h, _ in values]}).encode()
    return struct.pack('<Q', len(head)) + head + b''.join(d for _, d in values)

def plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError('JSON has no counterpart of ' + type(value).__name__)

def load(file, function, arguments):
    spec = importlib.util.spec_from_file_location('manta_model', file)
    module = importlib.util.module_from_spec(spec)
    sys.modules['manta_model'] = module
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    spec.loader.exec_module(module)
    if hasattr(module, function):
        return module, getattr(module, function)
    if not inspect.isclass(getattr(module, 'Model', None)):
        raise AttributeError('%s has neither a function "%s" nor a class "Model"' % (file, function))
    model = module.Model(**json.loads(arguments))
    return model, getattr(model, function)

def make():
    owner, predict = load(*sys.argv[1:4])

    def answer(request):
        kind = request[:1]
        if kind == b'T':
            count, batch = request[1], read_tensor(request[2:])
            given = predict(batch)
            given = [given] if count == 1 else list(given)
            if len(given) != count:
                raise ValueError('the model returned %d arrays, not %d' % (len(given), count))
            return write_tensors([write_tensor('y%d' % i, g, len(batch)) for i, g in enumerate(given)])
        if kind == b'V':
            values = json.loads(request[1:])
            given = list(predict(values))
            if len(given) != len(values):
                raise ValueError('the model got %d requests and returned %d answers' % (len(values), len(given)))
            return json.dumps(given, default=plain, allow_nan=False).encode()
        if kind == b'C':
            owner.reconfigure(json.loads(request[1:]))
            return b''
        healthy = getattr(owner, 'healthy', None)
        return b'1' if healthy is None or healthy() else b'0'

    return answer

answer_messages(make)
)PYTHON";

MANTA_DECL python_program_with_model::python_program_with_model(const std::string& file, const python_options& options)
    : python_({python_program(), "-u", "-c", std::string(python_channel()) + python_server, file, options.function,
               options.arguments}),
      file_(file),
      timeout_(options.timeout) {
  (void)ask("H", options.start_timeout);
}

/// A process that is gone takes the replica with it: another one gets a new process.
inline std::string python_program_with_model::ask(const std::string& request, double seconds) {
  try {
    return ask_python(python_, request, std::chrono::milliseconds(static_cast<long long>(seconds * 1000)));
  } catch (const error& e) {
    const std::string what = "the Python model " + file_ + ": " + python_package_advice(e.what()) + e.what();
    if (!python_.running()) throw fatal(what);
    throw error(what);
  }
}

/// The shapes of arrays, or of those that are wanted, for a batch of `rows`.
template <class Array>
std::string shapes_of(const std::vector<Array>& arrays, std::int64_t rows) {
  std::string all;
  for (const Array& each : arrays) {
    std::vector<std::int64_t> shape(each.shape.begin(), each.shape.end());
    if (!shape.empty() && shape[0] < 0) shape[0] = rows;
    all += (all.empty() ? "" : " and ") + to_json(shape);
  }
  return all;
}

MANTA_DECL infer_request python_program_with_model::predict(const tensor& batch,
                                                            const std::vector<tensor_type>& answers) {
  infer_request form;
  form.binary_output = true;
  std::string request(1, 'T');
  request += static_cast<char>(answers.size());
  std::string binary;
  const std::string json = write_infer_answer(form, {}, {batch}, binary);
  const std::uint64_t length = json.size();
  request.append(reinterpret_cast<const char*>(&length), sizeof length).append(json).append(binary);
  const std::string text = ask(request, timeout_);
  std::uint64_t head = 0;
  if (text.size() < sizeof head) throw error("the Python model " + file_ + " sent a message that is too short");
  std::memcpy(&head, text.data(), sizeof head);
  infer_request given = read_infer_request(std::string_view(text).substr(sizeof head), head);
  const std::int64_t rows = batch.shape[0];
  try {
    check_rows(given, answers);
  } catch (const json_error&) {
    throw error(base::text(
        "the Python model {} returned, for a batch of {}, arrays of the shapes {}; its answers need the shapes {} "
        "(-1: any length). An answer is a vector unless serve::python<R(A)> says otherwise: with "
        "serve::python<float(std::vector<float>)> it is a number",
        file_, rows, shapes_of(given.inputs, rows), shapes_of(answers, rows)));
  }
  return given;
}
MANTA_DECL std::string python_program_with_model::predict(std::string_view batch) {
  std::string request(1, 'V');
  request += batch;
  return ask(request, timeout_);
}
MANTA_DECL void python_program_with_model::reconfigure(const std::string& json) {
  std::string request(1, 'C');
  request += json;
  (void)ask(request, timeout_);
}
MANTA_DECL bool python_program_with_model::healthy() { return ask("H", timeout_) == "1"; }

MANTA_DECL void append_rows(tensor& to, const tensor& rows) {
  std::visit(
      [&]<class V>(std::vector<V>& all) {
        const auto& more = std::get<std::vector<V>>(rows.data);
        all.insert(all.end(), more.begin(), more.end());
      },
      to.data);
  to.shape[0] += rows.shape[0];
}

}  // namespace manta::serve::detail
