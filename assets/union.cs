
/// <summary>Reads one of several types by trying them in order.</summary>
public sealed class UnionConverter<T> : JsonConverter<T> where T : class
{
    public override T Read(ref Utf8JsonReader reader, Type type, JsonSerializerOptions options)
    {
        using var document = JsonDocument.ParseValue(ref reader);
        foreach (var option in typeof(T).GetNestedTypes())
        {
            var inner = option.GetProperty("Value")!.PropertyType;
            try
            {
                var value = document.RootElement.Deserialize(inner, options);
                if (value is not null) return (T)Activator.CreateInstance(option, value)!;
            }
            catch (JsonException)
            {
                // The next one may fit.
            }
        }
        throw new JsonException($"It is none of the types of {typeof(T).Name}.");
    }

    public override void Write(Utf8JsonWriter writer, T value, JsonSerializerOptions options)
    {
        var inner = value.GetType().GetProperty("Value")!;
        JsonSerializer.Serialize(writer, inner.GetValue(value), inner.PropertyType, options);
    }
}
